import Ingest
import MediaTypes
import PipelineSpec

extension Room {
    /// What publishers may send.
    var codecs: Set<CodecName> { Self.names(self.pipeline.ingest.codecs) }

    /// What this source may send.
    func codecs(of source: Pipeline.Source) -> Set<CodecName> {
        source.decode.codecs.isEmpty ? self.codecs : Self.names(source.decode.codecs)
    }

    /// Which codecs the server lets in, and which it tells its clients of: at that time it does not know yet who they are.
    func setCodecs(_ configuration: inout IngestConfiguration) {
        configuration.codecs = self.codecs
        for source in self.pipeline.sources where !source.decode.codecs.isEmpty {
            configuration.sourceCodecs[source.id] = self.codecs(of: source)
        }
        configuration.session.codecs = configuration.sourceCodecs.values.reduce(configuration.codecs) { $0.union($1) }
    }

    static func names(_ codecs: [Pipeline.Ingest.Codec]) -> Set<CodecName> {
        var names: Set<CodecName> = []
        for codec in codecs {
            switch codec {
            case .h264: names.insert(.h264)
            case .hevc: names.insert(.hevc)
            case .av1: names.insert(.av1)
            case .vp9: names.insert(.vp9)
            case .vp8: names.insert(.vp8)
            case .aac: names.insert(.aac)
            case .mp3: names.insert(.mp3)
            case .opus: names.insert(.opus)
            case .ac3: names.insert(.ac3)
            case .eac3: names.insert(.eac3)
            case .flac: names.insert(.flac)
            case .g711a: names.insert(.g711a)
            case .g711u: names.insert(.g711u)
            case .pcm: names.formUnion([.pcmS16, .pcmU8])
            case .adpcm: names.insert(.adpcm)
            case .nellymoser: names.insert(.nellymoser)
            case .speex: names.insert(.speex)
            }
        }
        return names
    }
}
