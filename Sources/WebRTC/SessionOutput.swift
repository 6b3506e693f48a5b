/// What a session leaves to its caller, in order.
package protocol SessionOutput {
    var changes: [SessionChange] { get set }

    /// Adds a datagram to send.
    mutating func addAlone(_ bytes: [UInt8], to address: ICEAddress)
}
