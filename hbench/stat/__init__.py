"""hbench.stat"""
