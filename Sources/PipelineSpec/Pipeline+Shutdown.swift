extension Pipeline {
    /// How long the end of the room may take.
    package struct Shutdown: Sendable, Equatable {
        /// From the end of the program until everything the room leaves behind is durable, in milliseconds (1…3,600,000).
        /// What is not done by then is done by the next worker that is started for the room. Default 30,000.
        package var endTimeoutMs = 30_000

        package init() {}

        static let rule = ObjectRule(
            "how long the end of the room may take", Shutdown(),
            [
                Field(
                    "endTimeoutMs", \.endTimeoutMs, .integer(1...3_600_000),
                    "milliseconds until all that the room leaves behind is durable; what is not by then is left to the "
                        + "next worker, and the exit code is 75")
            ])
    }
}
