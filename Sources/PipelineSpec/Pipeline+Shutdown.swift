extension Pipeline {
    /// Time limit for ending the room.
    package struct Shutdown: Sendable, Equatable {
        /// Time limit for making all results of the room durable after the end of the program, in milliseconds
        /// (1…3,600,000). Work that is not finished by then is left to the next worker that is started for the room. Default
        /// 30,000.
        package var endTimeoutMs = 30_000

        package init() {}

        static let rule = ObjectRule(
            "time limit for ending the room", Shutdown(),
            [
                Field(
                    "endTimeoutMs", \.endTimeoutMs, .integer(1...3_600_000),
                    "milliseconds until all results of the room are durable; work that is not finished by then is left to the next worker, and the exit code is 75"
                )
            ])
    }
}
