"""What Google's own sender needs for a message to fcm-simulator, as JSON.

usage: measure_firebase_admin.py URL SERVICE_ACCOUNT MESSAGES CALL ...; ends with status 69 without
the library. CPU is what this process spends on the calls, start and first connections excluded.
"""
import asyncio
import json
import sys
import time

try:
    import firebase_admin
    import requests
    from firebase_admin import credentials, messaging
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(69)

BATCH = 500


def message(index):
    return messaging.Message(
        fid=f"c{index % 10_000:021x}",
        android=messaging.AndroidConfig(
            priority="high", ttl=287,
            notification=messaging.AndroidNotification(
                title="Your driver is here", body="Ana is waiting, B-RP 4711",
                channel_id="ride_now", default_sound=True, priority="high", tag="ride-4711")),
        data={
            "event": "driver_arrived", "ride_id": "ride-4711", "rp_kind": "alert",
            "rp_id": f"{index:032x}", "rp_ride": "ride-4711", "rp_ts": "1795420800",
            "rp_until": "1795421087",
        })


def batches(messages):
    return [messages[first:first + BATCH] for first in range(0, len(messages), BATCH)]


def check(responses):
    for response in responses:
        if not response.success:
            raise response.exception


def send(messages):
    for one in messages:
        messaging.send(one)


def send_each(messages):
    for batch in batches(messages):
        check(messaging.send_each(batch).responses)


def run(call, messages, loop):
    if call == "send_each_async":
        for batch in batches(messages):
            check(loop.run_until_complete(messaging.send_each_async(batch)).responses)
    else:
        {"send": send, "send_each": send_each}[call](messages)


def main(url, account, count, *calls):
    service = messaging._MessagingService
    service.FCM_URL = service.FCM_URL.replace("https://fcm.googleapis.com", url)
    app = firebase_admin.initialize_app(credentials.Certificate(account))
    # As many connections as the library gives Google's host.
    adapter = requests.adapters.HTTPAdapter(pool_connections=100, pool_maxsize=100)
    messaging._get_messaging_service(app)._client.session.mount(url, adapter)
    messages = [message(index) for index in range(int(count))]
    loop = asyncio.new_event_loop()
    results = []
    for call in calls:
        run(call, messages[:BATCH], loop)
        cpu, start = time.process_time(), time.monotonic()
        run(call, messages, loop)
        used, seconds = time.process_time() - cpu, time.monotonic() - start
        results.append({
            "name": call, "cost": used * 1e6 / len(messages), "rate": len(messages) / seconds})
    print(json.dumps({"version": firebase_admin.__version__, "calls": results}))


main(*sys.argv[1:])
