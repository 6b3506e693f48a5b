import Glibc
import NIOCore
import PublishEdge
import Testing

/// Two connected non-blocking stream sockets.
private final class Pair {
    let near: Int32
    let far: Int32
    private var isFarOpen = true

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        (self.near, self.far) = (ends[0], ends[1])
        for end in ends { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
    }

    deinit {
        close(self.near)
        self.closeFar()
    }

    func closeFar() {
        if self.isFarOpen { close(self.far) }
        self.isFarOpen = false
    }
}

/// Writes what the socket accepts, and returns how many bytes that are.
private func put(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Int {
    max(0, bytes.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) })
}

private func get(_ size: Int, from socket: Int32) -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: size)
    let count = read(socket, &bytes, size)
    return bytes.prefix(max(0, count))
}

/// A publisher, its edge and a room that reads irregularly.
private struct Lane {
    let publisher: Pair
    let room: Pair
    private let source: [UInt8]
    private var sent = 0
    private var pending: ArraySlice<UInt8> = []
    private var received: [UInt8] = []
    private(set) var stalls = 0

    init(factor: Int) throws {
        self.publisher = try Pair()
        self.room = try Pair()
        self.source = (0..<1 << 20).map { UInt8(truncatingIfNeeded: ($0 &* factor) >> 7) }
    }

    var isDone: Bool { self.sent == self.source.count && self.received.count == self.sent }
    var isWhole: Bool { self.received == self.source }

    mutating func publish(_ size: Int) {
        self.sent += put(self.source[self.sent..<min(self.source.count, self.sent + size)], to: self.publisher.near)
    }

    mutating func forward(_ size: Int, through pipe: SplicePipe, rest: inout ByteBuffer) {
        guard self.pending.isEmpty else {
            self.pending = self.pending.dropFirst(put(self.pending, to: self.room.near))
            return
        }
        let moved = pipe.move(from: self.publisher.far, to: self.room.near, size: size, rest: &rest)
        #expect(!moved.isBroken && moved.bytes <= size && rest.readableBytes <= moved.bytes)
        self.pending = Array(rest.readableBytesView)[...]
        if !self.pending.isEmpty { self.stalls += 1 }
    }

    mutating func receive(_ size: Int) { self.received += get(size, from: self.room.far) }
}

@Suite("The publish edge's pipe between two sockets")
struct SplicePipeTests {
    @Test(
        "bytes of two publishers pass through one pipe whole and in order, also when their rooms stop reading at times")
    func order() throws {
        let pipe = try #require(SplicePipe())
        var lanes = [try Lane(factor: 7), try Lane(factor: 1_009)]
        var rest = ByteBuffer()
        var seed: UInt32 = 1
        func random(_ limit: Int) -> Int {
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return Int(seed >> 8) % limit
        }
        for round in 0..<20_000 where !lanes.allSatisfy(\.isDone) {
            for lane in lanes.indices {
                lanes[lane].publish(random(20_000))
                lanes[lane].forward(1 + random(120_000), through: pipe, rest: &rest)
                if (round / 50 + lane) % 2 == 0 { lanes[lane].receive(1 + random(40_000)) }
            }
        }
        for lane in lanes { #expect(lane.isWhole && lane.stalls > 0) }
        #expect(pipe.isUsable)
    }

    @Test(
        "a publisher's many tiny segments arrive after several moves, since a move takes no more of them than the pipe has places"
    )
    func tinySegments() throws {
        let pipe = try #require(SplicePipe(size: 256 << 10))
        let publisher = try Pair()
        let room = try Pair()
        var rest = ByteBuffer()
        var sent: [UInt8] = []
        var received: [UInt8] = []
        for number in 0..<400 {
            let segment = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 3)
            sent += segment.prefix(put(segment[...], to: publisher.near))
        }
        var moves = 0
        while case let moved = pipe.move(from: publisher.far, to: room.near, size: 1 << 20, rest: &rest),
            moved.bytes > 0
        {
            moves += 1
            received += get(1 << 20, from: room.far)
        }
        #expect(received == sent && sent.count > 3 * 64)
        #expect(moves > 1)
    }

    @Test("after a room has closed its connection, the pipe has none of its bytes for the next room")
    func brokenRoom() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = try #require(SplicePipe())
        let publishers = [try Pair(), try Pair()]
        let rooms = [try Pair(), try Pair()]
        var rest = ByteBuffer()
        #expect(put([1, 1, 1], to: publishers[0].near) == 3)
        rooms[0].closeFar()
        let lost = pipe.move(from: publishers[0].far, to: rooms[0].near, size: 100, rest: &rest)
        #expect(lost == SplicePipe.Moved(bytes: 3, isBroken: true) && rest.readableBytes == 0)
        #expect(put([2, 2], to: publishers[1].near) == 2)
        let moved = pipe.move(from: publishers[1].far, to: rooms[1].near, size: 100, rest: &rest)
        #expect(moved == SplicePipe.Moved(bytes: 2))
        #expect(Array(get(100, from: rooms[1].far)) == [2, 2])
        #expect(pipe.isUsable)
    }

    @Test("a move finds nothing if the publisher has sent nothing, or has closed its connection")
    func nothing() throws {
        let pipe = try #require(SplicePipe())
        let publisher = try Pair()
        let room = try Pair()
        var rest = ByteBuffer()
        let none = SplicePipe.Moved()
        #expect(pipe.move(from: publisher.near, to: room.near, size: 100, rest: &rest) == none)
        publisher.closeFar()
        #expect(pipe.move(from: publisher.near, to: room.near, size: 100, rest: &rest) == none)
        #expect(pipe.isUsable)
    }

    @Test(
        "a pipe is not used any more when the kernel cannot splice the publisher's file or the room's, and no byte is lost"
    )
    func unsupported() throws {
        var rest = ByteBuffer()
        let publisher = try Pair()
        let room = try Pair()
        // Linux splices neither from a directory nor to a file that is opened for appending.
        let directory = open("/", O_RDONLY)
        defer { close(directory) }
        let first = try #require(SplicePipe())
        #expect(first.move(from: directory, to: room.near, size: 100, rest: &rest) == SplicePipe.Moved())
        #expect(!first.isUsable)

        var name = Array("/tmp/tandem-splice-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        try #require(file >= 0)
        unlink(&name)
        defer { close(file) }
        try #require(fcntl(file, F_SETFL, O_APPEND) == 0)
        let second = try #require(SplicePipe())
        #expect(put([4, 5, 6], to: publisher.near) == 3)
        let moved = second.move(from: publisher.far, to: file, size: 100, rest: &rest)
        #expect(moved == SplicePipe.Moved(bytes: 3) && Array(rest.readableBytesView) == [4, 5, 6])
        #expect(!second.isUsable)
        #expect(put([7], to: publisher.near) == 1)
        #expect(second.move(from: publisher.far, to: room.near, size: 100, rest: &rest) == SplicePipe.Moved())
        #expect(Array(get(10, from: publisher.far)) == [7], "it stays in the socket, to be copied")
    }

    @Test("a pipe of less than 256 KiB is not used")
    func small() { #expect(SplicePipe(size: 128 << 10) == nil) }

    @Test(
        "a publisher's socket is read a second time at every fifth turn, and at every turn while second reads find bytes"
    )
    func secondReads() {
        var check = SecondRead()
        /// Whether a turn whose first read finds bytes has a second read, which finds `more`.
        func hasSecond(finding more: Int) -> Bool {
            guard check.isNeeded(after: 100, number: 0) else { return false }
            if check.isNeeded(after: more, number: 1) {
                let hasFourth = check.isNeeded(after: 0, number: 2)
                #expect(more > 0 && !hasFourth)
            }
            return true
        }
        let idle = (0..<11).map { _ in hasSecond(finding: 0) }
        let paused = [false, false, false, false]
        #expect(idle == [true] + paused + [true] + paused + [true])
        let busy = (0..<8).map { _ in hasSecond(finding: 50) }
        #expect(busy == paused + [true, true, true, true])
        let afterNothing = check.isNeeded(after: 0, number: 0)
        #expect(!afterNothing, "nothing has arrived")
    }
}
