import MediaTypes
package import RTMP

/// Somebody who publishes, or wants to, through any of the doors. Bound to the server's event loop.
package protocol PublishingConnection: AnyObject {
    /// Which connection of this worker it is.
    var number: Int { get }
    /// `IP:PORT`.
    var remote: String { get }

    /// Ends it with a status for the encoder, as far as its protocol has one.
    func refuse(_ refusal: PublishRefusal)
    /// Ends it because another server goes on from here.
    ///
    /// - Returns: It was asked to connect anew, and needs a moment to read that.
    func handOver() -> Bool
    /// Ends it because a newer one has taken its source over.
    func giveWay()
    /// Others need its place, and it does not publish.
    func crowdedOut()
    /// Back-pressure on this one publisher.
    func setPaused(_ isPaused: Bool)
}

extension RTMPConnectionHandler: PublishingConnection {}
