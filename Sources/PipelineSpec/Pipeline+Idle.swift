extension Pipeline {
    /// Time limits after which a live room without publishers ends on its own.
    package struct Idle: Sendable, Equatable {
        /// How long a new room waits for its first publisher, in seconds (0…604,800); 0: without limit. Default 0.
        package var waitForFirstSourceSeconds = 0
        /// How long a room that has had a publisher continues without any publisher, in seconds (0…604,800); 0: without
        /// limit. Default 0.
        package var maxIdleSeconds = 0

        package init() {}

        static let rule = ObjectRule(
            "when a live room without publishers ends on its own", Idle(),
            [
                Field(
                    "waitForFirstSourceSeconds", \.waitForFirstSourceSeconds, .integer(0...604_800),
                    "seconds that a new room waits for its first publisher; 0: without limit"),
                Field(
                    "maxIdleSeconds", \.maxIdleSeconds, .integer(0...604_800),
                    "seconds that a room that has had a publisher continues without any; 0: without limit"),
            ])
    }
}
