extension Pipeline {
    /// When it is told that a source comes in badly.
    package struct Alarms: Sendable, Equatable {
        /// What is looked at, in milliseconds (2,000…60,000). Default 5,000.
        package var windowMs = 5000
        /// How long nothing as bad must have been seen until a level falls, in milliseconds (0…600,000). Default 10,000.
        package var clearAfterMs = 10_000

        package init() {}
    }
}

extension Pipeline.Alarms {
    static let rule = ObjectRule(
        "alarms about sources", Pipeline.Alarms(),
        [
            Field("windowMs", \.windowMs, .integer(2000...60_000), "milliseconds that are looked at"),
            Field(
                "clearAfterMs", \.clearAfterMs, .integer(0...600_000),
                "milliseconds without anything as bad until a level falls"),
        ])
}
