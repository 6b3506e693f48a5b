import MediaTypes

extension MediaError {
    /// The publisher sends a codec that the pipeline does not allow.
    static func notListed(_ codec: CodecName, at place: String) -> MediaError {
        MediaError(
            .rejected, "\(codec) is not among the codecs this source may send", at: place,
            fix: "publish H.264 and AAC, or add \"\(codec)\" to ingest.codecs or to the source's decode.codecs")
    }
}
