package import MediaTypes

/// The JSON line that is written if the worker crashes while decoding a source.
package enum DecoderMark {
    package static func line(_ source: SourceID, _ codec: CodecName) -> JSONValue {
        [
            "uid": .string(source.uid), "streamType": .string(source.streamType.rawValue),
            "codec": .string(codec.rawValue),
        ]
    }
}
