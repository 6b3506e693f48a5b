import HLS
import MediaKernels
import MediaTypes
import Recording
import Testing

@Suite("Samples of a segment, read from its boxes")
struct SegmentSamplesTests {
    private static func segment(_ kind: TrackKind) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in 0..<2 {
            let samples = (0..<4).map { index in
                PartSample(
                    memory: PacketMemory([UInt8](repeating: UInt8(10 * part + index), count: 5 + index)),
                    range: 0..<(5 + index),
                    duration: 1_000,
                    flags: index == 0 && part == 0 ? FragmentWriter.syncSample : FragmentWriter.dependentSample,
                    compositionOffset: index.isMultiple(of: 2) ? 500 : 0)
            }
            bytes +=
                FragmentWriter.fragment(
                    kind: kind, sequence: UInt32(part + 1), decodeTime: Int64(part) * 4_000 + 7, samples: samples,
                    startsSegment: part == 0
                ).bytes
        }
        return bytes
    }

    @Test("a segment's boxes give every sample that the packager wrote, with its bytes", arguments: TrackKind.allCases)
    func whole(kind: TrackKind) throws {
        let bytes = Self.segment(kind)
        let segment = try #require(SegmentSamples(bytes))
        #expect(segment.fragments.map(\.decodeTime) == [7, 4_007])
        for (part, fragment) in segment.fragments.enumerated() {
            #expect(fragment.samples.map(\.size) == [5, 6, 7, 8])
            #expect(fragment.samples.allSatisfy { $0.duration == 1_000 })
            #expect(fragment.samples.map(\.offset) == (kind == .video ? [500, 0, 500, 0] : [0, 0, 0, 0]))
            #expect(
                fragment.samples.map(\.isSync)
                    == (kind == .video ? [part == 0, false, false, false] : [true, true, true, true]))
            let expected = (0..<4).flatMap { [UInt8](repeating: UInt8(10 * part + $0), count: 5 + $0) }
            #expect(Array(bytes[fragment.data]) == expected)
        }
    }

    @Test("if a segment is truncated or a byte of it changed, no sample that is read lies outside the segment's bytes")
    func damaged() {
        let bytes = Self.segment(.video)
        for count in 0..<bytes.count {
            guard let segment = SegmentSamples(Array(bytes[..<count])) else { continue }
            #expect(segment.fragments.allSatisfy { $0.data.upperBound <= count })
        }
        var generator = SystemRandomNumberGenerator()
        for index in bytes.indices {
            for value in [0, 0x7F, 0xFF, UInt8.random(in: 0...255, using: &generator)] {
                var changed = bytes
                changed[index] = value
                guard let segment = SegmentSamples(changed) else { continue }
                for fragment in segment.fragments {
                    #expect(fragment.data.upperBound <= bytes.count)
                    #expect(fragment.samples.reduce(0) { $0 + Int($1.size) } == fragment.data.count)
                }
            }
        }
    }
}
