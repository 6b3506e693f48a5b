package import MediaTypes

/// Where a publisher's packets come from. Created and used on one thread.
package protocol PublishInput: AnyObject {
    /// Codec of every track, configuration records as FLV wants them.
    var parameters: [CodecParameters] { get }
    /// What `onMetaData` says: width, height and pictures per second; `nil` without a picture.
    var picture: (width: Int, height: Int, fps: Int)? { get }
    /// The next packet in decoding order, times from zero; `nil` at the end.
    func next() throws(MediaError) -> CodedPacket?
}
