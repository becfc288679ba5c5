"""leakbench for Python: a crash-test lab for programs that launch MCP servers over stdio.

leakbench.driver puts a client on the bench as a program of its own. The pytest plugin (fixture mcp_lab, option --leakbench) has the
bench inside of a test. leakbench.lab is what both stand on; `leakbench` on the command line is the bench itself.
"""
