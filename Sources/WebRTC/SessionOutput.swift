/// What a session leaves to its caller: datagrams to send and changes of its state, each in order.
package protocol SessionOutput {
    var changes: [SessionChange] { get set }

    /// Adds a datagram to send.
    mutating func addAlone(_ bytes: [UInt8], to address: ICEAddress)
}
