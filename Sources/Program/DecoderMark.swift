package import MediaTypes

/// What a dying worker leaves of the source it was decoding.
package enum DecoderMark {
    package static func line(_ source: SourceID, _ codec: CodecName) -> JSONValue {
        [
            "uid": .string(source.uid), "streamType": .string(source.streamType.rawValue),
            "codec": .string(codec.rawValue),
        ]
    }
}
