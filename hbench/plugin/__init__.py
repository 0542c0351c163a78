"""hbench.plugin"""
