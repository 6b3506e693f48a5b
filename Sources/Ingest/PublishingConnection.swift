package import RTMP

/// A connection that publishes or asks to, over RTMP, SRT or WebRTC. Bound to the server's event loop.
package protocol PublishingConnection: AnyObject {
    /// Number of the connection, unique in its ingest server.
    var number: Int { get }
    /// Remote address of the client, `IP:PORT`.
    var remote: String { get }

    /// Ends the connection with a status for the encoder, if its protocol has one.
    func refuse(_ refusal: PublishRefusal)
    /// Ends the connection because another server takes over.
    ///
    /// - Returns: True if the encoder was asked to reconnect and needs a moment to read the request.
    func handOver() -> Bool
    /// Ends the connection because a newer one has taken its source over.
    func giveWay()
    /// Drops the connection: it does not publish and there are too many connections.
    func crowdedOut()
    /// Stops or resumes reading from this publisher; other publishers are not affected.
    func setPaused(_ isPaused: Bool)
    /// Asks the publisher for a key frame, if its protocol can.
    func requestKeyFrame()
}

extension PublishingConnection {
    package func requestKeyFrame() {}
}

extension RTMPConnectionHandler: PublishingConnection {}
