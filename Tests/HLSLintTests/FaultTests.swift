import HLSLint
import Testing

@Suite("Lint: single faults")
struct FaultTests {
    @Test(
        "each fault planted in a presentation gives a finding of the fault's rule, with a text and a playlist of the room",
        arguments: Fault.table.indices)
    func found(index: Int) throws {
        let fault = Fault.table[index]
        let rule = try #require(fault.rule)
        let linter = ScriptServer(script: try Script.shared.get(), fault: fault).run(rest: 10_000_000_000)
        let found = Set(linter.findings.map(\.rule))
        #expect(found.contains(rule), "\(rule.rawValue): found \(found.map(\.rawValue).sorted())")
        for finding in linter.findings where finding.rule == rule {
            #expect(!finding.what.isEmpty && finding.playlist.hasPrefix(ScriptServer.base))
        }
        #expect(linter.findings.count < 12 * found.count * 4, "repeated findings are counted, not stored")
    }

    @Test("every rule of the linter has a fault that breaks it, a clause and a remedy")
    func everyRule() {
        #expect(Set(Fault.table.compactMap(\.rule)) == Set(Rule.allCases))
        for rule in Rule.allCases {
            #expect(rule.entry.clause != "rfc8216bis", "\(rule.rawValue) is not in the catalog")
            #expect(rule.entry.remedy.count > 10)
        }
    }
}
