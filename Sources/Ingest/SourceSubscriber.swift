package import MediaTypes

/// Reads a source: its decoder, a relay, a recorder.
package protocol SourceSubscriber: AnyObject, Sendable {
    /// Gets the source's items in order, one call at a time.
    ///
    /// Called on the publisher's event loop, and during ``SourceHub/subscribe(_:)`` on the caller's thread for what was
    /// cached. Must not block, and must not call ``SourceHub/subscribe(_:)``, ``SourceHub/unsubscribe(_:)`` or
    /// ``SourceHub/receive(_:)``; ``SourceHub/setFull(_:for:)`` and ``SourceHub/setPatient(_:for:)`` are fine.
    func receive(_ item: SourceItem)
    /// Several of them that came together, in order.
    func receive(_ items: [SourceItem])
    /// All that the source sent before `time` has been handed out, and what came since may wait a little; nil: nothing waits.
    /// Whoever measures the source's silence or its rate counts up to there. Called as ``receive(_:)`` is.
    ///
    /// - Parameter time: Nanoseconds, of the clock of ``CodedPacket/arrival``.
    func noteRead(until time: Int64?)
    /// The publisher was sent away, and what it sent is not to be seen any more; its end is received next. Called as ``receive(_:)``
    /// is. Nothing happens by default.
    func cut()
}

extension SourceSubscriber {
    package func receive(_ items: [SourceItem]) {
        for item in items { self.receive(item) }
    }

    package func noteRead(until time: Int64?) {}

    package func cut() {}
}

/// Names a subscription.
package struct SubscriptionToken: Sendable, Hashable {
    let id: Int
}
