import LibAV
import MediaTypes
import RTMP

/// The decoders that an admitted publisher reaches: H.264, AAC and MP3 after the demuxer.
///
/// Input as in ``TagCase``. Memory errors inside libavcodec are only seen at its allocations, since it is prebuilt.
enum DecoderCase {
    static let entry = FuzzCase(
        "decoders", longest: 3000, mutate: TagRecords.mutate, seeds: TagRecords.seeds, run: Self.run)

    /// Largest number of pixels per frame. A room's limit is larger, which would make the case slow.
    private static let mostPixels: Int64 = 256 * 256

    static func run(_ bytes: [UInt8]) -> String? {
        LibAV.setNativeLogging(false)
        let (_, messages) = TagRecords.read(bytes)
        var demuxer = FLVDemuxer()
        var video: VideoDecoder?
        var audioDecoders: [UInt8: AudioDecoder] = [:]
        var opened = 0
        var broken: String?
        func look(_ picture: Picture) {
            if Int64(picture.format.width) * Int64(picture.format.height) > Self.mostPixels {
                broken = "a frame above the pixel limit"
            }
        }
        for message in messages.prefix(60) {
            var items: [SourceItem] = []
            demuxer.receive(message, arrival: 0, into: &items)
            for item in items {
                switch item {
                case .configuration(let parameters):
                    // Opening a decoder is expensive, and not what this case tests.
                    opened += 1
                    guard opened <= 6 else { return broken }
                    if parameters.kind == .video {
                        video?.finish(look)
                        video = try? VideoDecoder.open(parameters, maxPixels: Self.mostPixels, place: "fuzz")
                    } else {
                        let before = audioDecoders[parameters.track]
                        audioDecoders[parameters.track] = try? AudioDecoder.open(
                            parameters, sampleRate: 48_000, place: "fuzz", following: before)
                    }
                case .packet(let packet):
                    if packet.kind == .video {
                        _ = video?.decode(packet, look)
                    } else {
                        _ = audioDecoders[packet.track]?.decode(packet) { block in
                            if !block.samples.allSatisfy({ $0.isFinite }) {
                                broken = "an audio sample that is not finite"
                            }
                            if block.samples.count > 4 << 20 { broken = "more than 4 Mi audio samples from one packet" }
                        }
                    }
                case .end: break
                }
            }
            if broken != nil { return broken }
        }
        video?.finish(look)
        return broken
    }
}
