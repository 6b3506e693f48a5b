import Ingest
package import MediaTypes
package import PipelineSpec

extension Pipeline {
    /// The codecs with which a source may be published.
    package func codecs(of source: Pipeline.Source) -> Set<CodecName> {
        Ingest.names(source.decode.codecs.isEmpty ? self.ingest.codecs : source.decode.codecs)
    }
}

extension Pipeline.Ingest {
    /// The names of the codecs that members of the pipeline's `codecs` stand for.
    package static func names(_ codecs: [Codec]) -> Set<CodecName> {
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

extension IngestConfiguration {
    /// Sets the codecs that the server accepts, and those that it announces to clients. It announces the codecs of all
    /// sources, because a client's source is not known at that time.
    mutating func setCodecs(_ pipeline: Pipeline) {
        self.codecs = Pipeline.Ingest.names(pipeline.ingest.codecs)
        for source in pipeline.sources where !source.decode.codecs.isEmpty {
            self.sourceCodecs[source.id] = pipeline.codecs(of: source)
        }
        self.session.codecs = self.sourceCodecs.values.reduce(self.codecs) { $0.union($1) }
    }
}
