print("ridepulse")
