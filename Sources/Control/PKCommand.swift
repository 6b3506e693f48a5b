/// What an operator asks of a PK. Milliseconds; `nil`: as the pipeline says; 0 as there.
package enum PKCommand: Sendable, Hashable {
    case start(countdownMs: Int?, durationMs: Int?, punishMs: Int?)
    case punish(punishMs: Int?)
    case end
}
