"""Messages that go through sockets."""

import json
import os
import socket
import struct
import threading
from contextlib import suppress

import pytest
from events.component.component_support import heard

import mopsus
from mopsus.events.component import codec
from mopsus.events.component.codec import use_codec

pytestmark = pytest.mark.interpreter


@pytest.fixture
def pair():
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    with client, other:
        yield client, other


def address(port):
    return f"<{127 << 24 | 1}.{port}.1>"


def test_messages(pair):
    client, server = pair
    with heard() as log:
        client.sendall(b"one")
        assert server.recv(10) == b"one"
        assert server.send(b"two") == 3
        buffer = bytearray(10)
        assert client.recv_into(buffer) == 3
    assert [(event.kind.value, event.other, event.data) for event in log.events] == [
        ("send", address(server.getsockname()[1]), b"one"),
        ("recv", None, b"one"),
        ("send", address(client.getsockname()[1]), b"two"),
        ("recv", None, b"two"),
    ]


def test_the_end_of_a_connection_is_no_message(pair):
    client, server = pair
    with heard() as log:
        client.shutdown(socket.SHUT_WR)
        assert server.recv(10) == b""
    assert log.events == []


def test_datagrams():
    with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as other, heard() as log:
        other.bind(("127.0.0.1", 0))
        one.sendto(b"d", other.getsockname())
        assert other.recvfrom(10)[0] == b"d"
        port = other.getsockname()[1]
    assert [(event.kind.value, event.other, event.data) for event in log.events] == [
        ("send", address(port), b"d"),
        ("recv", None, b"d"),
    ]


def test_a_pair_is_one_channel():
    with heard() as log:
        one, other = socket.socketpair()
        with one, other:
            one.sendall(b"a")
            other.sendall(b"b")
    assert len({event.other for event in log.events}) == 1


def test_a_socket_in_a_message_is_its_address(pair):
    import queue

    with heard() as log:
        queue.Queue().put(pair[0])
    assert log.events[0].data == address(pair[0].getsockname()[1])


def serve(server):
    with server.makefile("rwb") as file:
        file.write(file.readline())


def test_files_of_a_socket(pair):
    client, server = pair
    with heard() as log:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        client.sendall(b"line\n")
        assert client.recv(10) == b"line\n"
        thread.join()
    assert [words.split()[0] for words in log.of("serve")] == ["init", "recv", "send", "exit"]


@pytest.fixture
def coded():
    before = []
    yield lambda made: before.append(use_codec(made))
    use_codec(before[0])


def test_messages_made_of_pieces(pair, coded):
    client, server = pair
    coded(codec.json_lines)
    text = json.dumps({"id": 1}).encode() + b"\n"
    with heard() as log:
        client.sendall(text[:4])
        client.sendall(text[4:] + b"not json\r\n[2")
        server.recv(100)
    assert [event.data for event in log.events if event.kind == "send"] == [{"id": 1}, "not json"]


@pytest.mark.parametrize(
    ("made", "pieces", "messages"),
    [
        (codec.pieces, [b"a", b"b"], [b"a", b"b"]),
        (codec.lines, [b"a\nb", b"c\r\n", b"d"], ["a", "bc"]),
        (codec.json_lines, [b"1\n[2, 3]\n"], [1, [2, 3]]),
        (codec.json_lines, [b"[" * 100_000 + b"\n"], ["[" * 100_000]),
        (codec.prefixed(), [struct.pack(">I", 3) + b"a", b"bc" + struct.pack(">I", 0)], [b"abc", b""]),
        (codec.prefixed("<H"), [b"\x01", b"\x00x\x02\x00yz\x01"], [b"x", b"yz"]),
    ],
)
def test_codecs(made, pieces, messages):
    decode = made()
    assert [message for piece in pieces for message in decode(piece)] == messages


def test_the_program_sees_no_difference(pair):
    before = dict(vars(socket.socket)), dict(vars(socket.socket.__base__))
    with heard(), pytest.raises(TypeError) as error:
        pair[0].send("text")
    assert [entry.name for entry in error.traceback] == ["test_the_program_sees_no_difference"]
    assert before == (dict(vars(socket.socket)), dict(vars(socket.socket.__base__)))


def test_a_codec_is_used_while_it_is_asked_for(pair, tmp_path):
    import mopsus

    client, server = pair
    spec = mopsus.parse('S(p) { event e(p) : send(p, _, {"id": 7}) ere : e }')["S"]
    with mopsus.watch_components(spec, codec=codec.json_lines) as watch:
        client.sendall(b'{"id": 7}\n')
    assert len(watch.verdicts) == 1
    assert codec.new_decoders() is codec.pieces
    assert server.recv(20)


# ---- connections that are accepted


def shown(log):
    return [(event.kind.value, event.subject, event.other) for event in log.events]


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.mark.parametrize("take", [lambda s: s.recv(9), lambda s: s.recv_into(bytearray(9)), lambda s: s.close()])
def test_a_connection_is_a_component_from_accept_to_its_end(server, take):
    with heard() as log:
        client = socket.create_connection(server.getsockname())
        peer = address(client.getsockname()[1])
        connection, _ = server.accept()
        connection.recv(0)  # is no end
        client.close()
        take(connection)
        connection.close()
    main = log.pid("main")
    assert shown(log) == [("fork", main, peer), ("init", peer, main), ("exit", peer, None)]
    assert log.events[0].data == ("socket", "accept", (address(server.getsockname()[1]),), None)
    assert log.events[2].data == "normal"


def test_a_reset_is_an_error_of_the_connection(server):
    with heard() as log:
        client = socket.create_connection(server.getsockname())
        with server.accept()[0] as connection:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            with pytest.raises(ConnectionResetError):
                connection.recv(9)
    assert [event.data[:2] for event in log.events[2:]] == [("error", "ConnectionResetError")]


def test_a_time_out_is_no_end(server):
    with heard() as log, socket.create_connection(server.getsockname()):
        connection, _ = server.accept()
        connection.settimeout(0.01)
        with pytest.raises(TimeoutError):
            connection.recv(9)
        assert len(log.events) == 2
        connection.close()


def test_what_is_sent_to_the_peer_goes_to_the_connection(server):
    with heard() as log, socket.create_connection(server.getsockname()) as client, server.accept()[0] as connection:
        connection.sendall(b"hello")
        assert client.recv(9) == b"hello"
    (fork, *_), (sent,) = log.events, [event for event in log.events if event.kind.value == "send"]
    assert sent.other == fork.other


def test_a_connection_can_be_monitored(server, tmp_path):
    (tmp_path / "peers.hml").write_text(
        "with socket:accept(_) monitor [_ <- _, socket:accept(_)]([_ ** {error, _, _}]ff and [_ ** normal]tt)."
    )
    found = []
    with mopsus.watch_components(tmp_path / "peers.hml", on_verdict=found.append):
        for reset in (False, True):
            client = socket.create_connection(server.getsockname())
            peer = address(client.getsockname()[1])
            with server.accept()[0] as connection:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", reset, 0))
                client.close()
                with suppress(ConnectionResetError):
                    connection.recv(9)
    assert [(verdict.category, verdict.binding) for verdict in found if verdict.violation] == [
        ("rejection", {"component": peer})
    ]


def test_a_process_that_was_forked_does_not_end_it_again(server):
    with heard() as log:
        client = socket.create_connection(server.getsockname())
        connection, _ = server.accept()
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            before = len(log.events)
            connection.close()
            os.write(tell, bytes([len(log.events) - before]))
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(told, 1) == b"\0"
        connection.close()
        client.close()
    os.close(told)
    os.close(tell)
    assert [event.kind.value for event in log.events] == ["fork", "init", "exit"]
