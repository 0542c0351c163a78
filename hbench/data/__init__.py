"""hbench.data"""
