"""hbench.metric"""
