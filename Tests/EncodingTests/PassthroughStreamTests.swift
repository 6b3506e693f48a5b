import Encoding
import MediaTypes
import Testing

@Suite("Passthrough: one publisher's frames on ticks")
struct PassthroughStreamTests {
    private static let fps: Int64 = 30

    private static func send(_ frame: Int64, key: Bool = false, to stream: inout PassthroughStream) {
        // Whole milliseconds, as in FLV.
        let pts = (frame * 1_000 + Self.fps / 2) / Self.fps * 1_000_000
        stream.receive(.picture(PassthroughRoom.packet(key: key, bytes: 16), pts: pts))
    }

    private static func stream() -> PassthroughStream {
        var stream = PassthroughStream(fps: Int(Self.fps))
        stream.receive(.configuration(PassthroughRoom.parameters))
        return stream
    }

    /// The number of elements in the largest array, set or dictionary of a value.
    private static func largest(_ value: Any) -> Int {
        let mirror = Mirror(reflecting: value)
        let own =
            switch mirror.displayStyle {
            case .collection, .set, .dictionary: mirror.children.count
            default: 0
            }
        return mirror.children.reduce(own) { max($0, Self.largest($1.value)) }
    }

    @Test(
        "after an hour of frames with a single IDR frame, each collection in the passthrough state has fewer than 64 elements"
    )
    func endless() {
        var stream = Self.stream()
        Self.send(0, key: true, to: &stream)
        var chunks: Int64 = 0
        for frame in 1...Int64(3_600) * Self.fps {
            if frame == Self.fps { #expect(Self.largest(stream) < 64) }
            Self.send(frame, to: &stream)
            while let chunk = stream.popFirst() {
                #expect(chunk.first == chunks && chunk.end == chunks + 1)
                chunks += 1
            }
        }
        #expect(chunks == 3_600 * Self.fps + 1 && stream.trouble == nil)
        #expect(Self.largest(stream) < 64)
        // A doubled frame is still detected.
        Self.send(3_600 * Self.fps, to: &stream)
        #expect(stream.trouble == .timestamps)
    }

    @Test(
        "in passthrough, frames may arrive in any order, but a second frame for a tick is a fault until the next IDR frame"
    )
    func twice() {
        for (order, isTrouble): ([Int64], Bool) in [
            ([1, 2, 3], false), ([3, 1, 2], false), ([3, 3], true), ([3, 1, 3], true), ([3, 1, 1], true),
            ([1, 2, 0], true),
        ] {
            var stream = Self.stream()
            Self.send(0, key: true, to: &stream)
            for frame in order { Self.send(frame, to: &stream) }
            #expect(stream.trouble == (isTrouble ? .timestamps : nil), "\(order)")
            Self.send(30, key: true, to: &stream)
            Self.send(31, to: &stream)
            #expect(stream.chunks.last?.end == 32, "\(order)")
        }
    }

    @Test("in passthrough, a frame more than 16 ticks beyond the first tick without a frame counts as a gap")
    func tooFarAhead() {
        for ahead in [Int64(16), 17, 18, 40, 1_000_000] {
            var stream = Self.stream()
            Self.send(0, key: true, to: &stream)
            Self.send(ahead, to: &stream)
            // From the first tick that has no frame yet.
            #expect(stream.trouble == (ahead - 1 <= 16 ? nil : .gap), "\(ahead)")
        }
    }
}
