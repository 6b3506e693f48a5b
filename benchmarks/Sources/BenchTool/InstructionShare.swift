/// How much of R1 is executed outside the codecs: callgrind over one second of program and over two, whose difference
/// holds no start-up.
struct InstructionShare {
    let tandem: String
    /// Where R1's sources lie.
    let work: String
    /// Path of `r1.json` as seen from `work`.
    let pipeline: String

    private static let codecs = ["libav", "libsw", "libx264", "libpostproc", "libaac", "libfdk"]

    func measure() throws(BenchError) -> R1Instructions {
        let (one, two) = (try self.profile(seconds: 1), try self.profile(seconds: 2))
        let pictures = 30.0
        var perPicture: [String: Double] = [:]
        for (object, count) in two.instructionsByObject {
            let difference = Double(count - (one.instructionsByObject[object] ?? 0)) / pictures
            if difference >= 1_000 { perPicture[object] = difference.rounded() }
        }
        func outside<T>(_ counts: [String: T]) -> [T] {
            counts.filter { entry in !Self.codecs.contains { entry.key.hasPrefix($0) } }.map(\.value)
        }
        let all = perPicture.values.reduce(0, +)
        guard all > 0 else { throw BenchError("callgrind counted nothing in R1") }
        let allocations = outside(two.allocationsByObject).reduce(0, +) - outside(one.allocationsByObject).reduce(0, +)
        return R1Instructions(
            perPicture: perPicture, outsideLibav: (outside(perPicture).reduce(0, +) / all).rounded(digits: 4),
            allocationsOutsideLibav: (Double(allocations) / pictures).rounded(digits: 1))
    }

    private func profile(seconds: Int) throws(BenchError) -> CallgrindProfile {
        let file = "\(self.work)/callgrind.r1"
        // A shell for the directory alone: the paths in the pipeline are relative to where the program runs.
        let command = [
            "bash", "-c",
            "cd \"$1\" && exec valgrind -q --tool=callgrind --callgrind-out-file=callgrind.r1 \"$2\" run \"$3\" "
                + "--duration \(seconds) --log-level error",
            "bash", self.work, self.tandem, self.pipeline,
        ]
        let usage = try ChildProcess.run(
            command, environment: KernelMeasurement.environment, output: "\(self.work)/callgrind.txt")
        guard usage.status == 0 else { throw BenchError("R1 under callgrind ended with status \(usage.status)") }
        return try CallgrindProfile(Files.text(at: file))
    }
}
