package import MediaTypes

/// A source of packets to publish. Created and used on one thread.
package protocol PublishInput: AnyObject {
    /// Parameters of every track, with configuration records in the form of FLV.
    var parameters: [CodecParameters] { get }
    /// Values for `onMetaData`: width, height and frames per second; `nil` if unknown or without video.
    var picture: (width: Int, height: Int, fps: Int)? { get }
    /// The next packet in decoding order, with times from zero; `nil` at the end.
    func next() throws(MediaError) -> CodedPacket?
}
