package import MediaTypes

/// A consumer of a source's packets, such as its decoder or a relay.
package protocol SourceSubscriber: AnyObject, Sendable {
    /// Gets the source's items in order, one call at a time.
    ///
    /// Called on the publisher's thread (an event loop, or the thread of an SRT feed), and during
    /// ``SourceHub/subscribe(_:)`` on the caller's thread for what was cached. Must not block, and must not call
    /// ``SourceHub/subscribe(_:)``, ``SourceHub/unsubscribe(_:)`` or ``SourceHub/receive(_:)``;
    /// ``SourceHub/setFull(_:for:)`` and ``SourceHub/setPatient(_:for:)`` are fine.
    func receive(_ item: SourceItem)
    /// Gets several items that arrived together, in order.
    func receive(_ items: [SourceItem])
    /// Reports that everything that arrived from the source before `time` has been delivered, and that later data may
    /// still wait in the socket. nil: no data waits. A subscriber that measures the source's silence or rate must count
    /// only up to `time`. Called as ``receive(_:)`` is.
    ///
    /// - Parameter time: Nanoseconds, of the clock of ``CodedPacket/arrival``.
    func noteRead(until time: Int64?)
    /// Reports that the publisher was disconnected and that frames it has already sent must not be shown any more;
    /// ``SourceItem/end`` follows. Called as ``receive(_:)`` is. Does nothing by default.
    func cut()
}

extension SourceSubscriber {
    package func receive(_ items: [SourceItem]) {
        for item in items { self.receive(item) }
    }

    package func noteRead(until time: Int64?) {}

    package func cut() {}
}

/// Identifies a subscription to a ``SourceHub``.
package struct SubscriptionToken: Sendable, Hashable {
    let id: Int
}
