"""hbench.report"""
