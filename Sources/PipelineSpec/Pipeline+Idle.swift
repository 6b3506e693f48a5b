extension Pipeline {
    /// When a live room that nobody publishes to is over by itself.
    package struct Idle: Sendable, Equatable {
        /// How long a new room waits for its first publisher, in seconds (0…604,800); 0: for ever. Default 0.
        package var waitForFirstSourceSeconds = 0
        /// How long a room that has had one goes on without any, in seconds (0…604,800); 0: for ever. Default 0.
        package var maxIdleSeconds = 0

        package init() {}

        static let rule = ObjectRule(
            "when a live room that nobody publishes to is over by itself", Idle(),
            [
                Field(
                    "waitForFirstSourceSeconds", \.waitForFirstSourceSeconds, .integer(0...604_800),
                    "seconds a new room waits for its first publisher; 0: for ever"),
                Field(
                    "maxIdleSeconds", \.maxIdleSeconds, .integer(0...604_800),
                    "seconds a room that has had a publisher goes on without any; 0: for ever"),
            ])
    }
}
