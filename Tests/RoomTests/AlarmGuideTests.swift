import Foundation
import Room
import Testing

@Suite("The alarm table of the guide")
struct AlarmGuideTests {
    private static let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/tandem/Documentation.docc/ControlAPI.md")

    @Test("the table has exactly the alarm types that rooms raise")
    func types() throws {
        let text = try String(contentsOf: Self.guide, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Alarms\n").dropFirst().first)
        let table = section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }
        let told = table.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([a-z]+\.[a-z_]+)`/).map { String($0.output.1) }
        }
        let others = [
            "encoder.overload_step", "output.unreachable", "output.refused", "output.stalled", "output.disk_low",
            "output.damaged", "output.moved", "config.invalid", "commands.not_durable",
            "commands.set_aside", CertificateAlarm.type,
        ]
        #expect(Set(told) == Set(SourceHealth.Cause.allCases.map { $0.alarmType } + others))
        #expect(told.count == Set(told).count)
    }
}
