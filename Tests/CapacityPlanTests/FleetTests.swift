import CapacityPlan
import Testing

@Suite("Fleet size, by simulation")
struct FleetTests {
    private static let room = Fleet.Size(millicores: 2_000, memory: 1 << 30, network: 10_000_000)
    private static let machine = Fleet.Size(millicores: 16_000, memory: 64 << 30, network: 10_000_000_000)

    private static func fleet(
        _ machine: Fleet.Size = Self.machine, rooms: [Fleet.Size] = [Self.room], perHour: Int = 120, minutes: Int = 60
    ) -> Fleet { Fleet(machine: machine, rooms: rooms, roomsPerHour: perHour, minutes: minutes) }

    /// The probability that all `servers` are busy with an offered load (Erlang's loss formula), a lower bound with
    /// waiting.
    private static func loss(_ servers: Int, load: Double) -> Double {
        (1...servers).reduce(1.0) { loss, n in load * loss / (Double(n) + load * loss) }
    }

    @Test("the fleet plan's number of machines is within one of Erlang's C formula, plus the spare machine")
    func erlang() throws {
        let outcome = try #require(Self.fleet().plan(count: 40_000))
        // 120 rooms at once on average, eight per machine; one room in a thousand waits (Erlang's C formula).
        let load = 120.0
        func waits(_ machines: Int) -> Double {
            let servers = machines * 8
            let loss = Self.loss(servers, load: load)
            return loss / (1 - load / Double(servers) * (1 - loss))
        }
        let fewest = try #require((16...40).first { waits($0) <= 0.001 })
        #expect(abs(outcome.machines - 1 - fewest) <= 1, "\(outcome.machines), and \(fewest) by the formula")
        #expect(outcome.spare == 1 && outcome.rooms == 40_000)
        #expect(outcome.waited <= 40)
        #expect((120...200).contains(outcome.mostAtOnce))
    }

    @Test("with less memory or less network bandwidth per machine, the fleet plan has more machines")
    func scarce() throws {
        let cores = try #require(Self.fleet().plan(count: 5_000))
        var little = Self.machine
        little.memory = 4 << 30
        let memory = try #require(Self.fleet(little).plan(count: 5_000))
        little = Self.machine
        little.network = 20_000_000
        let network = try #require(Self.fleet(little).plan(count: 5_000))
        #expect(cores.machines < memory.machines && memory.machines < network.machines)
    }

    @Test(
        "in the fleet plan more rooms, longer rooms and more spare machines need more machines, and more waiting needs fewer"
    )
    func monotonous() throws {
        let base = try #require(Self.fleet().plan(count: 5_000)).machines
        #expect(try #require(Self.fleet(perHour: 240).plan(count: 5_000)).machines > base)
        #expect(try #require(Self.fleet(minutes: 120).plan(count: 5_000)).machines > base)
        var fleet = Self.fleet()
        fleet.spare = 3
        #expect(fleet.plan(count: 5_000)?.machines == base + 2)
        fleet.waitingPerMille = 200
        #expect(try #require(fleet.plan(count: 5_000)).machines < base + 2)
    }

    @Test(
        "a fleet plan is found if the limit is exactly the machines it needs without spares, and none if it is one lower"
    )
    func nearTheLimit() throws {
        // One room per machine: as many machines as rooms, and some more.
        let fleet = Self.fleet(rooms: [Fleet.Size(millicores: 16_000, memory: 1, network: 1)], perHour: 90)
        let outcome = try #require(fleet.plan(count: 500))
        let fewest = outcome.machines - outcome.spare
        #expect((91...127).contains(fewest), "\(fewest)")
        #expect(fleet.plan(count: 500, limit: fewest) == outcome)
        #expect(fleet.plan(count: 500, limit: fewest - 1) == nil)
    }

    @Test("there is no fleet plan for more rooms at once than the simulation supports")
    func tooMany() {
        #expect(Self.fleet(perHour: Fleet.mostAtOnce).atOnce == Fleet.mostAtOnce)
        #expect(Self.fleet(perHour: Fleet.mostAtOnce + 1).plan(count: 500) == nil)
        // 9,091 rooms per hour of 132 minutes are 20,000.2 rooms at once.
        #expect(Fleet.atOnce(roomsPerHour: 9_091, minutes: 132) == Fleet.mostAtOnce + 1)
        #expect(Self.fleet(perHour: 9_091, minutes: 132).plan(count: 500) == nil)
        #expect(Self.fleet(perHour: 1, minutes: 1).atOnce == 1)
    }

    @Test("there is no fleet plan without rooms or with a room larger than a machine; equal input gives an equal plan")
    func limits() {
        let large = Fleet.Size(millicores: 17_000, memory: 1, network: 1)
        #expect(Self.fleet(rooms: [Self.room, large]).plan() == nil)
        #expect(Self.fleet(rooms: []).plan() == nil)
        #expect(Self.fleet().plan(count: 2_000) == Self.fleet().plan(count: 2_000))
    }
}
