<?php
// An old sender: command-2 frames over TLS, and on an error packet a new connection that goes on
// behind the frame which it names.
// usage: php send.php PORT COUNT ERRORS [IDENTIFIER=TOKEN]...   ERRORS: how many packets to wait for.

[, $port, $count, $wanted] = $argv;
$tokens = [];
foreach (array_slice($argv, 4) as $pair) {
    [$identifier, $token] = explode('=', $pair);
    $tokens[(int)$identifier] = $token;
}
$expiry = time() + 3600;

function frame($identifier, $token, $payload, $expiry) {
    $items = pack('Cn', 1, strlen($token)) . $token
        . pack('Cn', 2, strlen($payload)) . $payload
        . pack('CnN', 3, 4, $identifier)
        . pack('CnN', 4, 4, $expiry)
        . pack('CnC', 5, 1, 10);
    return pack('CN', 2, strlen($items)) . $items;
}

function connect($port) {
    $context = stream_context_create(['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]]);
    $socket = stream_socket_client(
        "tls://127.0.0.1:$port", $code, $text, 60, STREAM_CLIENT_CONNECT, $context);
    if (!$socket) { exit("no connection: $text\n"); }
    return $socket;
}

/** The error packet, if one comes within so many seconds; false at the end without one. */
function complaint($socket, $seconds) {
    $read = [$socket]; $write = null; $except = null;
    if (!stream_select($read, $write, $except, $seconds)) { return null; }
    $packet = fread($socket, 6);
    return strlen($packet) == 6 ? unpack('Ccommand/Cstatus/Nidentifier', $packet) : false;
}

// From 1: a packet with 0 knows of none.
$next = 1;
$errors = 0;
while (true) {
    $socket = connect($port);
    $error = null;
    while ($next <= $count && $error === null) {
        $token = hex2bin($tokens[$next] ?? hash('sha256', "phone $next"));
        $payload = json_encode(['aps' => ['alert' => "Push number $next"]]);
        $sent = @fwrite($socket, frame($next, $token, $payload, $expiry));
        if ($sent === false) {
            $error = complaint($socket, 10);
        } else {
            $next++;
            $error = complaint($socket, 0);
        }
    }
    if ($error === null && $errors < $wanted) { $error = complaint($socket, 300); }
    fclose($socket);
    if ($error === null) { break; }
    if ($error === false) { exit("hung up without a word\n"); }
    $errors++;
    echo "command {$error['command']} status {$error['status']} identifier {$error['identifier']}\n";
    $next = $error['identifier'] + 1;
}
echo "done\n";
