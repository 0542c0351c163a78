"""hbench.testing"""
