import Foundation
import Glibc
import MediaKernels
import MediaTypes
import Push
import RTMP
import Synchronization

/// A test pattern sent like a camera's: every packet leaves at its time, and a later reader starts at the last key
/// frame. So two encoders can send the same clip from the same moment, however long each takes to start.
struct LiveClip {
    private static let header: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]

    let input: PatternInput
    let beepHertz: Int
    let hasStamps: Bool

    /// - Parameter hasStamps: Frames carry the time at which they were taken (MISB ST 0604).
    init(_ name: String, hasStamps: Bool, size: (width: Int, height: Int) = (640, 360)) throws {
        let pattern = TestPattern(name: name, width: size.width, height: size.height)
        self.input = try PatternInput(pattern: pattern)
        self.beepHertz = pattern.beepHertz
        self.hasStamps = hasStamps
    }

    var head: [UInt8] {
        Self.header + self.input.parameters.compactMap { FLVTagWriter.configuration($0) }.flatMap { Self.tag($0) }
    }

    /// - Parameter taken: When the packet's frame was taken, in nanoseconds since the Unix epoch.
    func bytes(_ packet: CodedPacket, taken: Int64) -> [UInt8] {
        var packet = packet
        if self.hasStamps, packet.kind == .video {
            let unit = Self.stamp(taken)
            let memory = [0, 0, 0, UInt8(unit.count)] + unit + packet.memory.bytes(in: packet.range)
            packet.memory = PacketMemory(memory)
            packet.range = 0..<memory.count
        }
        return FLVTagWriter.packet(packet, codec: packet.kind == .video ? .h264 : .aac).map { Self.tag($0) } ?? []
    }

    private static func stamp(_ taken: Int64) -> [UInt8] {
        var unit: [UInt8] = [0x06, 5, 28] + Array("MISPmicrosectime".utf8) + [0x1F]
        for index in 0..<8 {
            unit.append(UInt8(truncatingIfNeeded: (taken / 1000) >> Int64(56 - 8 * index)))
            if !index.isMultiple(of: 2), index < 7 { unit.append(0xFF) }
        }
        return unit + [0x80]
    }

    private static func tag(_ message: RTMPMediaMessage) -> [UInt8] {
        let body = message.payload.bytes
        var tag: [UInt8] = [message.kind == .video ? 9 : 8]
        tag.reserveCapacity(body.count + 15)
        func big(_ value: UInt32, _ count: UInt32) {
            for index in 0..<count { tag.append(UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - index)))) }
        }
        big(UInt32(body.count), 3)
        big(message.timestamp & 0xFF_FFFF, 3)
        big(message.timestamp >> 24, 1)
        big(0, 3)
        tag += body
        big(UInt32(body.count + 11), 4)
        return tag
    }
}

/// Sends a ``LiveClip`` to encoders that read it from a named pipe, from one moment on.
final class LiveFeed: @unchecked Sendable {
    // @unchecked Sendable: `lock` guards all mutable state.
    private struct Reader {
        var file: Int32
        var rest: [UInt8]
    }

    private let clip: LiveClip
    private let lock = NSLock()
    private var readers: [Reader] = []
    private var sinceKey: [UInt8] = []
    private var isStopped = false

    /// - Parameters:
    ///   - start: Seconds since the Unix epoch at which the clip starts.
    ///   - delay: Network delay of everything, in seconds.
    init(_ clip: LiveClip, start: Double, delay: Double = 0) {
        self.clip = clip
        Thread.detachNewThread { self.run(start, delay) }
    }

    deinit { self.stop() }

    func stop() {
        self.lock.lock()
        defer { self.lock.unlock() }
        self.isStopped = true
        for reader in self.readers { close(reader.file) }
        self.readers = []
    }

    /// Creates a named pipe from which the running clip can be read.
    func open(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw Missing("no pipe \(path)") }
        // Opened for reading and writing, so that it opens without a reader.
        let file = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw Missing("cannot open \(path)") }
        self.lock.lock()
        defer { self.lock.unlock() }
        self.readers.append(Reader(file: file, rest: self.clip.head + self.sinceKey))
        self.flush()
    }

    private func run(_ start: Double, _ delay: Double) {
        while let packet = (try? self.clip.input.next()) ?? nil {
            let time = Double(packet.pts) / Double(packet.timescale)
            let due = start + time + delay
            while Date().timeIntervalSince1970 < due {
                Thread.sleep(forTimeInterval: min(0.01, max(0, due - Date().timeIntervalSince1970)))
                if !self.send([]) { return }
            }
            if packet.kind == .video, packet.isKey { self.forget() }
            if !self.send(self.clip.bytes(packet, taken: Int64((start + time) * 1e9))) { return }
        }
    }

    private func forget() {
        self.lock.lock()
        self.sinceKey = []
        self.lock.unlock()
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        self.sinceKey += bytes
        for index in self.readers.indices { self.readers[index].rest += bytes }
        self.flush()
        return !self.isStopped
    }

    private func flush() {
        for index in self.readers.indices {
            let rest = self.readers[index].rest
            guard !rest.isEmpty else { continue }
            let count = rest.withUnsafeBytes { write(self.readers[index].file, $0.baseAddress, $0.count) }
            if count > 0 { self.readers[index].rest.removeFirst(count) }
        }
    }
}

extension Publisher {
    /// ffmpeg that sends what it reads from a feed as it arrives.
    static func relay(_ ffmpeg: String, _ feed: LiveFeed, _ pipe: String, to url: String) throws -> Publisher {
        try feed.open(pipe)
        return try Publisher(
            ffmpeg,
            [
                "-nostdin", "-v", "error", "-fflags", "nobuffer", "-probesize", "20000", "-analyzeduration", "0", "-f",
                "flv", "-i", pipe, "-c", "copy", "-flush_packets", "1", "-f", "flv", url,
            ])
    }
}
