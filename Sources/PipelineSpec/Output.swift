/// A destination of the room's media.
package enum Output: Sendable, Hashable {
    case hls(HLSOutput)
    case raw(RawOutput)
    case record(RecordOutput)
    case http(HTTPOutput)
    case s3(S3Output)
    case image(ImageOutput)
    case rtmp(RTMPOutput)
    case transport(TransportOutput)
    case webRTC(WebRTCOutput)

    /// Id that names the output in events and in the control API.
    package var outputID: String {
        switch self {
        case .hls(let output): output.outputID
        case .raw(let output): output.outputID
        case .record(let output): output.outputID
        case .http(let output): output.outputID
        case .s3(let output): output.outputID
        case .image(let output): output.outputID
        case .rtmp(let output): output.outputID
        case .transport(let output): output.outputID
        case .webRTC(let output): output.outputID
        }
    }

    /// Directory or file that the output writes to, as in the pipeline file; `nil` if the output writes no files.
    package var path: String? {
        switch self {
        case .hls(let output): output.path
        case .raw(let output): output.path
        case .record(let output): output.path
        case .image(let output): output.path
        case .transport(let output): output.path
        case .http, .s3, .rtmp, .webRTC: nil
        }
    }

    /// The `type` of the output in the pipeline file.
    package var typeName: String {
        switch self {
        case .hls, .transport: "hls"
        case .raw: "raw"
        case .record: "record"
        case .rtmp: "rtmp"
        case .http: "http"
        case .s3: "s3"
        case .image: "image"
        case .webRTC: "webrtc"
        }
    }
}

/// Output of the composed video before encoding, as a YUV4MPEG2 file, for tests and archives.
package struct RawOutput: Sendable, Hashable {
    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `raw`.
    package var outputID = "raw"
    /// Path of a `.y4m` file, relative to the working directory.
    package var path: String
}
