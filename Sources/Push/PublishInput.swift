package import MediaTypes

/// A source of packets to publish. Created and used on one thread.
package protocol PublishInput: AnyObject {
    /// Parameters of every track, with configuration records in the form of FLV.
    var parameters: [CodecParameters] { get }
    /// Values for `onMetaData`: width, height and frames per second; `nil` if unknown or without video.
    var picture: (width: Int, height: Int, fps: Int)? { get }
    /// Returns the next packet in decoding order, with timestamps that begin at zero; `nil` at the end of the input.
    func next() throws(MediaError) -> CodedPacket?
}
