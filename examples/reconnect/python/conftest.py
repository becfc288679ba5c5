def pytest_configure(config):
    config.addinivalue_line("markers", "leaking: a test that is to fail")
