import Testing
import WebRTC

@Suite("TCP connections of WebRTC sessions")
struct PeerStreamsTests {
    private final class Stream {}
    private final class Session {}

    private static func address(_ port: UInt16) -> ICEAddress { ICEAddress(ipv4: 0xC633_6401, port: port, isTCP: true) }

    @Test(
        "a TCP connection carries a WebRTC session's answers after its first check, and is the session's once that is valid"
    )
    func bind() {
        var streams = PeerStreams<Stream, Session>()
        let (stream, session, address) = (Stream(), Session(), Self.address(1))
        #expect(streams.owner(of: stream) == nil && streams[address, session] == nil)
        let hasBegun = streams.begin(stream, at: address, of: session)
        #expect(hasBegun && streams[address, session] === stream && streams.owner(of: stream) == nil)
        streams.bind(stream, to: session)
        #expect(streams.owner(of: stream) === session)
        let owner = streams.remove(stream, at: address)
        #expect(owner === session && streams.owner(of: stream) == nil && streams[address, session] == nil)
        let again = streams.remove(stream, at: address)
        #expect(again == nil)
    }

    @Test("a TCP connection whose first check was not valid belongs to no WebRTC session")
    func invalid() {
        var streams = PeerStreams<Stream, Session>()
        let (stream, session, address) = (Stream(), Session(), Self.address(1))
        _ = streams.begin(stream, at: address, of: session)
        streams.remove(stream, at: address, of: session)
        #expect(streams[address, session] == nil && streams.owner(of: stream) == nil)
    }

    @Test("a WebRTC session has at most eight TCP connections, one of each address, whatever other sessions have")
    func most() {
        var streams = PeerStreams<Stream, Session>()
        let (session, other) = (Session(), Session())
        let all = (1...9).map { (Stream(), Self.address($0)) }
        let begun = all.map { stream, address in streams.begin(stream, at: address, of: session) }
        #expect(begun == Array(repeating: true, count: 8) + [false])
        let isTwice = streams.begin(Stream(), at: all[0].1, of: session)
        let isOther = streams.begin(Stream(), at: all[0].1, of: other)
        #expect(!isTwice && isOther && streams[all[0].1, session] === all[0].0)
    }

    @Test("removing a WebRTC session's TCP connections, some or all, leaves another session's at the same address")
    func end() {
        var streams = PeerStreams<Stream, Session>()
        let (first, second) = (Session(), Session())
        let (kept, gone, others) = (Stream(), Stream(), Stream())
        for (stream, port, session) in [(kept, 1, first), (gone, 2, first), (others, 1, second)]
            as [(Stream, UInt16, Session)]
        {
            _ = streams.begin(stream, at: Self.address(port), of: session)
            streams.bind(stream, to: session)
        }
        let some = streams.removeAll(of: first) { $0.port == 2 }
        #expect(some.count == 1 && some.first === gone && streams.owner(of: gone) == nil)
        let rest = streams.removeAll(of: first)
        let none = streams.removeAll(of: first)
        #expect(rest.count == 1 && rest.first === kept && none.isEmpty)
        let owner = streams.remove(kept, at: Self.address(1))
        #expect(owner == nil && streams[Self.address(1), second] === others)
    }
}

@Suite("TCP connections whose peer does not read")
struct StreamBacklogTests {
    private static let limits = StreamBacklog.Limits(beyond: 1_000, patience: 10)

    @Test("a TCP connection takes a write of 1 GiB until it is full, and again once it has room")
    func room() {
        var backlog = StreamBacklog(limits: Self.limits)
        let isOpen = backlog.write(1 << 30, now: 0)
        backlog.changed(isFull: true, now: 1)
        #expect(isOpen && backlog.isFull)
        backlog.changed(isFull: false, now: 100)
        let isOpenAgain = backlog.write(1 << 30, now: 100)
        #expect(isOpenAgain && !backlog.isFull)
    }

    @Test("a full TCP connection takes bytes up to its limit, and is closed by the write that exceeds it")
    func bytes() {
        var backlog = StreamBacklog(limits: Self.limits)
        backlog.changed(isFull: true, now: 0)
        let results = [600, 400, 1].map { backlog.write($0, now: 1) }
        #expect(results == [true, true, false])
    }

    @Test(
        "a full TCP connection is closed by the first write after its time of patience, which begins when it becomes full"
    )
    func time() {
        var backlog = StreamBacklog(limits: Self.limits)
        backlog.changed(isFull: true, now: 5)
        backlog.changed(isFull: true, now: 12)
        let results = [15, 16].map { backlog.write(1, now: $0) }
        #expect(results == [true, false])
    }
}
