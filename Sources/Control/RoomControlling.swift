/// The room, as the control API sees it. Called from many threads; none of these may block for long.
package protocol RoomControlling: Sendable {
    /// The room's state: one JSON object.
    func stateJSON() -> String

    /// Puts a scene on air at the next tick.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for a scene the pipeline does not have, its scenes listed in `fix`.
    func setProgram(sceneID: String) throws(ControlFailure)

    /// Changes what a source contributes; `nil` leaves a value as it is.
    ///
    /// - Parameters:
    ///   - streamType: Of the source among those of `uid`; `main` where the request names none.
    ///   - volume: Percent, 0 to 200; 100 is as published.
    ///   - audioPush: Whether the source is heard.
    ///   - videoPush: Whether the source is seen.
    func setSource(uid: String, streamType: String, volume: Int?, audioPush: Bool?, videoPush: Bool?)
        throws(ControlFailure)

    /// Sends a source's packets to another room; the same again changes nothing, another URL takes the place of the first.
    ///
    /// - Parameters:
    ///   - relayID: Of the caller's choice, 1 to 64 letters, digits, `_`, `.` or `-`.
    ///   - url: `rtmp://host[:port]/app/key`.
    /// - Returns: The relay: one JSON object, the URL without its key.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the source, ``ControlFailure/invalidFormat(_:fix:status:)`` for the
    ///   URL, ``ControlFailure/limitExceeded(_:fix:)`` beyond four of a source.
    func putRelay(uid: String, streamType: String, relayID: String, url: String) throws(ControlFailure) -> String

    /// Ends a relay.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the source and for the relay.
    func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure)

    /// Starts, punishes or ends the PK.
    ///
    /// - Returns: The PK as it is then: one JSON object.
    /// - Throws: ``ControlFailure`` 409 for a command that does not fit the phase, or whose sources are not there; 404 in a
    ///   room without PK.
    func changePK(_ command: PKCommand) throws(ControlFailure) -> String

    /// The room is over: everything is flushed and the playlists are closed.
    func end()

    /// This worker stops: the playlists stay open for a successor.
    func drain()

    var health: HealthReport { get }
}
