"""hbench.prompt"""
