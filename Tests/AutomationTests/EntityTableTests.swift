import Testing

@testable import Automation

@Suite struct EntityTableTests {
    @Test("a state is changed where it is, and read as a copy")
    func aStateIsChangedWhereItIs() {
        var table = EntityTable()
        #expect(table["door"] == nil)
        #expect(table.update("door") { $0.isOnline = false } == nil)
        table.updateOrInsert("door") { $0.isOnline = false }
        table.updateOrInsert("lamp") { $0.isRemoved = true }
        #expect(table["door"]?.isOnline == false)
        #expect(table["lamp"]?.isOnline == true)
        let copy = table["lamp"]
        #expect(table.update("lamp") { $0.isRemoved } == true)
        table.update("lamp") { $0.isRemoved = false }
        #expect(copy?.isRemoved == true)
        #expect(table["lamp"]?.isRemoved == false)
    }

    @Test("an entity that takes the place of a removed one knows nothing of it")
    func aPlaceIsUsedAgainWithoutItsState() {
        var table = EntityTable()
        for id in ["door", "lamp", "blind"] { table.updateOrInsert(id) { $0.isRemoved = true } }
        table.remove("lamp")
        table.remove("lamp")
        table.remove("nothing")
        #expect(table["lamp"] == nil)
        let wasRemoved = table.updateOrInsert("plug") { $0.isRemoved }
        #expect(!wasRemoved)
        table.updateOrInsert("fan") { $0.isOnline = false }
        #expect(table["plug"]?.isOnline == true)
        #expect(table["door"]?.isRemoved == true)
        #expect(table["blind"]?.isRemoved == true)
        #expect(table["lamp"] == nil)
    }
}
