import LibAV
import MediaKernels
import MediaTypes
import RoomSources
import Testing

@Suite("Stills of sources: the tap, the cache and the size")
struct SourceStillsTests {
    private static let first = SourceID(uid: "1")
    private static let second = SourceID(uid: "2")

    private static func file(_ frame: StillCache<Int>.FrameID, made: Int64) -> StillCache<Int>.File {
        StillCache<Int>.File(frame: frame, bytes: [UInt8(clamping: made)], arrival: 0, made: made)
    }

    private static func packet(_ kind: TrackKind, isKey: Bool, bytes: Int = 1, at arrival: Int64) -> SourceItem {
        .packet(
            CodedPacket(
                kind: kind, memory: PacketMemory([UInt8](repeating: 0, count: bytes)), pts: arrival, dts: arrival,
                timescale: 1000, isKey: isKey, arrival: arrival))
    }

    @Test(
        "for stills, a publication's last key frame is kept with the format before it, and nothing after the publication's end"
    )
    func tap() {
        let format = CodecParameters(codec: .h264, configuration: [1])
        var tap = KeyFrameTap()
        tap.note([Self.packet(.video, isKey: true, at: 1)])
        #expect(tap.keyFrame == nil && !tap.hasVideo && tap.began == 1)
        tap.note([
            .configuration(format), Self.packet(.audio, isKey: true, at: 2), Self.packet(.video, isKey: false, at: 3),
        ])
        #expect(tap.keyFrame == nil && tap.hasVideo)
        tap.note([Self.packet(.video, isKey: true, at: 4), Self.packet(.video, isKey: false, at: 5)])
        #expect(tap.keyFrame?.packet.arrival == 4 && tap.keyFrame?.parameters == format)
        tap.note([.configuration(CodecParameters(codec: .h264, configuration: [2]))])
        #expect(tap.keyFrame?.parameters == format)
        tap.note([Self.packet(.video, isKey: true, bytes: KeyFrameTap.largest + 1, at: 6)])
        #expect(tap.keyFrame == nil && tap.hasVideo)
        tap.note([Self.packet(.video, isKey: true, at: 7), .end])
        #expect(tap.keyFrame == nil && !tap.hasVideo && tap.began == nil)
    }

    @Test(
        "requests for stills of one source share one job, sources take turns, and requests beyond the capacity are refused"
    )
    func jobs() {
        var cache = StillCache<Int>()
        var added = [
            cache.add(1, for: Self.first, width: 320), cache.add(2, for: Self.second, width: 320),
            cache.add(3, for: Self.first, width: 320), cache.add(4, for: Self.first, width: 640),
        ]
        #expect(!added.contains(false))
        let job = cache.next()
        #expect(job?.source == Self.first && job?.waiters == [320: [1, 3], 640: [4]])
        #expect(cache.waiting == 1)
        let (second, none) = (cache.next(), cache.next())
        #expect(second?.source == Self.second && none == nil && cache.waiting == 0)
        added = (0..<StillCache<Int>.capacity).map { cache.add($0, for: Self.first, width: 320) }
        #expect(!added.contains(false))
        let isRefused = !cache.add(-1, for: Self.second, width: 320)
        #expect(isRefused)
    }

    @Test(
        "a cached still is used again for the same frame, and within 200 ms also for later decoded frames of its source"
    )
    func files() {
        var cache = StillCache<Int>()
        let now: Int64 = 1_000_000_000
        cache.keep(Self.file(.decoded(5), made: now), of: Self.first, width: 320)
        cache.keep(Self.file(.coded(9), made: now), of: Self.second, width: 320)
        func isKept(_ source: SourceID, _ frame: StillCache<Int>.FrameID, _ time: Int64, any: Bool = false) -> Bool {
            cache.file(of: source, width: 320, frame: frame, now: time, anyAge: any) != nil
        }
        #expect(isKept(Self.first, .decoded(5), .max))
        #expect(isKept(Self.first, .decoded(6), now + 199_999_999))
        #expect(!isKept(Self.first, .decoded(6), now + 200_000_000))
        #expect(isKept(Self.first, .decoded(6), now + 200_000_000, any: true))
        #expect(!isKept(Self.first, .coded(6), now, any: true))
        #expect(isKept(Self.second, .coded(9), .max))
        #expect(!isKept(Self.second, .coded(10), now, any: true))
        #expect(cache.file(of: Self.first, width: 640, frame: .decoded(5), now: now) == nil)
        for width in 1...StillCache<Int>.widths {
            cache.keep(Self.file(.decoded(5), made: now), of: Self.first, width: width)
        }
        #expect(!isKept(Self.first, .decoded(5), now))
        cache.forget(Self.second)
        #expect(!isKept(Self.second, .coded(9), now))
    }

    @Test("all frames are decoded of one source at a time: of another only 1.5 s after the last request for the first")
    func fullyDecoded() {
        var decoded = FullyDecodedSource()
        let second: Int64 = 1_000_000_000
        func isGranted(_ source: SourceID, _ now: Int64) -> Bool { decoded.request(source, now: now) }
        #expect(isGranted(Self.first, 0) && isGranted(Self.first, second) && !isGranted(Self.second, second))
        #expect(!isGranted(Self.second, 5 * second / 2 - 1) && isGranted(Self.second, 5 * second / 2))
        #expect(!isGranted(Self.first, 3 * second))
        decoded.forget(Self.first)
        #expect(!isGranted(Self.first, 3 * second))
        decoded.forget(Self.second)
        #expect(isGranted(Self.first, 3 * second))
    }

    @Test(
        "a still has square pixels and the aspect ratio, at most the width and twice it in height, and is enlarged only to 16 pixels a side"
    )
    func sizes() {
        func size(_ width: Int, _ height: Int, _ across: Int32 = 1, _ down: Int32 = 1, to wanted: Int) -> [Int] {
            var format = PictureFormat.canvas(width: width, height: height)
            (format.sarNumerator, format.sarDenominator) = (across, down)
            let size = SourceStills.size(of: format, width: wanted)
            return [size.width, size.height]
        }
        #expect(size(1280, 720, to: 320) == [320, 180])
        #expect(size(720, 1280, to: 320) == [320, 568])
        #expect(size(160, 90, to: 320) == [160, 90])
        #expect(size(720, 576, 64, 45, to: 320) == [320, 180])
        #expect(size(1280, 720, 1, 2, to: 320) == [320, 360])
        #expect(size(100, 1000, to: 320) == [64, 640])
        #expect(size(2, 2, to: 320) == [16, 16])
        #expect(size(8192, 16, .max, 1, to: 1280) == [1280, 16])
    }
}
