using Kit.Runner.Results.Views;
using Microsoft.AspNetCore.Components;

namespace Kit.Runner.Html.Components;

/// <summary>A part of a page.</summary>
public abstract class PagePart : ComponentBase
{
    [CascadingParameter]
    public PageContent Content { get; set; } = null!;

    protected ResultsView View => Content.View;
}
