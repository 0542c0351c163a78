"""hbench.run"""
