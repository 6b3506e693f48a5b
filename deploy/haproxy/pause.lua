-- Delays a response by one second, because HAProxy repeats a request at once after a 503. With the 90 attempts of rooms.cfg, a request
-- to a worker that answers 503 is repeated for 90 s.
core.register_action("pause", { "http-res" }, function() core.msleep(1000) end)
