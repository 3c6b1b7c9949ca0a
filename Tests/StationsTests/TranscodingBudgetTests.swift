import MediaRelay
import Testing
import Transport

@testable import Stations

/// How many pictures are transcoded at once, and how large.
@Suite struct TranscodingBudgetTests {
    private static let small = PictureSize(width: 640, height: 360)
    private static let hd = PictureSize(width: 1280, height: 720)
    private static let fullHD = PictureSize(width: 1920, height: 1080)
    private static let ultraHD = PictureSize(width: 3840, height: 2160)

    @Test func theModelGivesTheMeasuredFigures() {
        // 15 pictures per second, as in the figures of docs/performance.md.
        func share(_ source: PictureSize, _ width: Int) -> Double {
            0.018 + (TranscodingPlan.cost(of: source, width: width) - 0.018) * 15 / 20
        }
        #expect(abs(share(Self.small, 640) - 0.066) < 0.005)
        #expect(abs(share(Self.hd, 1280) - 0.19) < 0.025)
        #expect(abs(share(Self.fullHD, 1280) - 0.33) < 0.035)
    }

    @Test func oneOfEachIsTranscodedAtFullSize() throws {
        let plan = TranscodingBudget(capacity: 0.8)
        let ticket = try #require(plan.admit(source: nil, isExempt: false))
        #expect(plan.width(of: ticket, source: Self.fullHD) == 1920)
        #expect(plan.limit(of: ticket) == nil)
        plan.release(ticket)
        #expect(plan.report.running == 0 && plan.report.used == 0)
    }

    @Test func picturesShrinkAndThenTheNewestIsRefused() throws {
        let plan = TranscodingBudget(capacity: 0.8)
        var tickets: [TranscodingBudget.Ticket] = []
        while let ticket = plan.admit(source: Self.hd, isExempt: false) {
            tickets.append(ticket)
            #expect(plan.report.used <= 0.8)
            #expect(tickets.count < 20)
        }
        #expect(tickets.count >= 3 && tickets.count <= 5, "\(tickets.count)")
        #expect(plan.report.limited > 0 && plan.report.refused == 1)
        #expect(tickets.allSatisfy { (plan.limit(of: $0) ?? 1280) >= 320 })
        // The remaining transcoders get the time that has become free.
        for ticket in tickets.dropFirst() { plan.release(ticket) }
        #expect(plan.limit(of: tickets[0]) == nil)
        #expect(plan.admit(source: Self.hd, isExempt: false) != nil)
    }

    @Test func aPictureThatTakesAWholeCoreToDecodeIsRefused() throws {
        let plan = TranscodingBudget(capacity: 2.4)
        let ticket = try #require(plan.admit(source: nil, isExempt: false))
        #expect(plan.width(of: ticket, source: Self.ultraHD) == nil)
        #expect(plan.report.running == 0 && plan.report.refused == 1)
        let exempt = try #require(plan.admit(source: nil, isExempt: true))
        #expect(plan.width(of: exempt, source: Self.ultraHD) == 1920)
    }

    @Test func exemptTranscodesCountAndAreLeftAlone() throws {
        let plan = TranscodingBudget(capacity: 0.5)
        let exempt = try #require(plan.admit(source: Self.fullHD, isExempt: true))
        #expect(plan.limit(of: exempt) == nil)
        #expect(plan.admit(source: Self.hd, isExempt: false) == nil)
        #expect(plan.admit(source: Self.fullHD, isExempt: true) != nil)
    }

    /// A machine that is five times slower than the model's, and one that is faster.
    @Test func measurementsCorrectTheModel() throws {
        let clock = Locked(Instant.zero)
        let plan = TranscodingBudget(capacity: 0.8, now: { clock.withLock { $0 } })
        let ticket = try #require(plan.admit(source: Self.hd, isExempt: false))
        for _ in 0..<10 {
            clock.withLock { $0 += .seconds(5) }
            let width = try #require(plan.width(of: ticket, source: Self.hd))
            plan.record(share: TranscodingPlan.cost(of: Self.hd, width: width) * 5, of: ticket)
        }
        #expect(plan.report.used <= 0.8 * 1.1 || plan.limit(of: ticket) == 320)
        #expect(plan.limit(of: ticket) != nil)
        #expect(plan.admit(source: Self.hd, isExempt: false) == nil, "a second one has no room there")
        // The camera's pictures have become simpler. They grow again, and do not alternate between sizes.
        var widths: [Int] = []
        for _ in 0..<100 {
            clock.withLock { $0 += .seconds(5) }
            let width = try #require(plan.width(of: ticket, source: Self.hd))
            if widths.last != width { widths.append(width) }
            plan.record(share: TranscodingPlan.cost(of: Self.hd, width: width) * 0.6, of: ticket)
        }
        #expect(plan.limit(of: ticket) == nil)
        #expect(widths.count <= 4 && widths == widths.sorted(), "\(widths)")
    }

    @Test func theRefusalSaysHowMuchIsInUse() throws {
        let budget = TranscodingBudget(capacity: 0.1)
        #expect(budget.admit(source: Self.fullHD, isExempt: false) == nil)
        #expect(budget.refusal(camera: "door") == TranscodingRefusal(camera: "door", running: 0, cores: 0.1))
    }

    @Test(arguments: [(1, 0.5), (2, 0.8), (4, 2.4), (8, 5.6)])
    func aCoreAndMoreIsLeftToTheRelay(cores: Int, expected: Double) {
        #expect(abs(TranscodingBudget(cores: cores).report.capacity - expected) < 1e-9)
    }
}
